/* local_loader.c: a C program that loads a C++ library, uses it and unloads it, three times. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments) {
    for (int i = 0; i < 3; i++) {
        void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
        int (*fill)(void) = library ? (int (*)(void))dlsym(library, "fill") : NULL;
        if (!fill)
            return 1;
        printf("%d\n", fill());
        dlclose(library);
    }
    return 0;
}
