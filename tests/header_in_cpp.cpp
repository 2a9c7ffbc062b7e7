// The public header is clean C++ too.
#include <kanon.h>

int main()
{
    kn_error err = {{0}};
    return err.message[0];
}
