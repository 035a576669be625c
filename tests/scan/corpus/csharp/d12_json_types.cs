using Newtonsoft.Json;
class Read
{
    static object From(string text)
    {
        var s = new JsonSerializerSettings();
        s.TypeNameHandling = TypeNameHandling.All; // FIND: csharp.deserialize
        return JsonConvert.DeserializeObject(text, s);
    }
}
