// The public headers are clean C++ too.
#include <kanon_arrow.h>

int main()
{
    kn_error err = {};
    return err.message[0];
}
