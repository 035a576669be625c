using System;
class Events
{
    public event Action<int> Changed;
    public void Raise(int n) => Changed?.Invoke(n);
}
