public record Point(double X, double Y)
{
    public Point Move(double dx) => this with { X = X + dx };
}
