using System.Text.Json;
class Row { public int A { get; set; } }
class Read
{
    static Row From(string text) => JsonSerializer.Deserialize<Row>(text);
}
