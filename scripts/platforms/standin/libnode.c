/* napi-build wants a libnode.dll to name to the linker. Nothing of it is used: the `dyn-symbols`
 * feature looks Node-API up in the running process. */
int ringfence_standin(void)
{
    return 0;
}
