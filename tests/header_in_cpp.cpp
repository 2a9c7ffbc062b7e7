// The public header is clean C++ too.
#include <kanon.h>

int main()
{
    kn_error err = {};
    return err.message[0];
}
