using System;
class Link
{
    static string Host() => new Uri("https://docs.example.org/start").Host;
    const string Help = "https://docs.example.org/help";
}
