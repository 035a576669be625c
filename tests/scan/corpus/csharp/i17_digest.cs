using System;
using System.Security.Cryptography;
class Digest
{
    const string Wanted = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    static bool Holds(byte[] b) => Convert.ToHexString(SHA256.HashData(b)).ToLower() == Wanted;
}
