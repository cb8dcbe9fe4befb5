/* loader.c: loads the library that it is given and calls it. */
#include <dlfcn.h>
#include <stddef.h>

int main(int count, char **argument) {
    void *library = count == 2 ? dlopen(argument[1], RTLD_NOW) : NULL;
    int (*use)(void) = library ? (int (*)(void))dlsym(library, "use") : NULL;
    return use ? use() : 2;
}
