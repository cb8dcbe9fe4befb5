/* Loads libraries with names of their own, as an interpreter does, and runs their regions in turn. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int (*run[8])(int) = {0};
    for (int n = 1; n < argc && n < 8; n++) {
        void *module = dlopen(argv[n], RTLD_NOW | RTLD_LOCAL);
        if (!module) {
            puts(dlerror());
            return 1;
        }
        run[n] = (int (*)(int))dlsym(module, "run");
    }
    for (int round = 0; round < 3; round++)
        for (int n = 1; n < argc && n < 8; n++)
            printf("%d\n", run[n](1 + n));
    return 0;
}
