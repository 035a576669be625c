using System.IO;
using System.Runtime.Serialization.Formatters.Binary;
class Read
{
    static object From(Stream s)
    {
        var f = new BinaryFormatter(); // FIND: csharp.deserialize
        return f.Deserialize(s);
    }
}
