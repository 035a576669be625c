class Robot
{
    public void Load(string cargo) { }
    public void Start() { }
    public int Invoke(int n) => n;
    static void Main()
    {
        var r = new Robot();
        r.Load("stones");
        r.Start();
        r.Invoke(3);
    }
}
