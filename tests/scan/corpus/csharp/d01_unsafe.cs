class Peek
{
    static void Main()
    {
        int n = 3;
        unsafe // FIND: csharp.unsafe
        {
            int* p = &n;
            *p = 4;
        }
    }
}
