/* Bun wants a newer libstdc++ than the one we lay beneath it, by these two functions. Both are
 * how a program dies that has gone wrong already, so dying is what they do here. */
#include <stdlib.h>

void _ZSt28__throw_bad_array_new_lengthv(void)
{
    abort();
}

void _ZSt21__glibcxx_assert_failPKciS0_S0_(void)
{
    abort();
}
