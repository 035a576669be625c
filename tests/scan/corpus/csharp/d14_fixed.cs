public unsafe class Buffer // FIND: csharp.unsafe
{
    public static void Fill(byte[] b)
    {
        fixed (byte* p = b) // FIND: csharp.unsafe
        {
            p[0] = 1;
        }
    }
}
