using System;
class Names
{
    static string Of(object o) => o.GetType().Name + typeof(int).FullName + nameof(Names);
}
