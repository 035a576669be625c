using System.Collections.Generic;
using System.Linq;
class Sum
{
    static int Of(IEnumerable<int> n) => n.Where(x => x > 0).Select(x => x * x).Sum();
}
