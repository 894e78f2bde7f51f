/* Wine 8 has no bcryptprimitives.dll, which Rust's standard library draws its random seeds from.
 * This one forwards to the generator that Wine does have. */
#include <stddef.h>

__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *buffer, unsigned long size);

__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *buffer, size_t size)
{
    return SystemFunction036(buffer, (unsigned long)size);
}
