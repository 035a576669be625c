using System;
class InitializerAttribute : Attribute { }
[Serializable]
class Module
{
    [Initializer]
    void Run() { }
}
