// Loads the library that its argument names, as a runtime loads an addon, and tells with which C library.

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdio.h>

int main(int count, char **arguments) {
  void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  printf("glibc %s: %s\n", gnu_get_libc_version(), library ? "loaded" : dlerror());
  return library == NULL;
}
