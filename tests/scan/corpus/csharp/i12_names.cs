class Names
{
    int processStart, unsafeCount, dllImported;
    string socketName = "none";
    int Evaluate() => processStart + unsafeCount + dllImported + socketName.Length;
}
