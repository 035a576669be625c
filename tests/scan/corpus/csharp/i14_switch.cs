static class Shapes
{
    public static double Area(object shape) => shape switch
    {
        (double w, double h) => w * h,
        double r => 3.14159 * r * r,
        _ => 0,
    };
}
