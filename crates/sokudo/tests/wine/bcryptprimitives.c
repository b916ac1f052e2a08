/* What lets the program for Windows run under a Wine that lacks parts of Windows (Wine 8).
 *
 * - There is no bcryptprimitives.dll, from which every Rust program imports one function: this is one.
 * - QUIC asks its sockets for what Wine does not know. Loaded by the program, this library stands
 *   between the program and two calls of Winsock, and lets it believe that the socket agrees.
 *
 * Windows has all of it; this file is never shipped. */

#include <winsock2.h>
#include <ws2tcpip.h>
#include <ntsecapi.h>

enum { RECV_ECN = 50 }; /* IP_RECVECN and IPV6_RECVECN, which older headers lack */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length)
{
    return RtlGenRandom(buffer, (ULONG)length);
}

static int WSAAPI set(SOCKET s, int level, int option, const char *value, int length)
{
    int is_ip = level == IPPROTO_IP || level == IPPROTO_IPV6;
    int done = setsockopt(s, level, option, value, length);
    return is_ip && option == RECV_ECN ? 0 : done;
}

static int WSAAPI get(SOCKET s, int level, int option, char *value, int *length)
{
    int room = *length;
    int done = getsockopt(s, level, option, value, length);
    /* Windows answers for a socket of IPv4, too. */
    if (done && level == IPPROTO_IPV6 && option == IPV6_V6ONLY && room >= (int)sizeof(DWORD)) {
        *(DWORD *)value = 1;
        *length = sizeof(DWORD);
        return 0;
    }
    return done;
}

/* Lets the program call `new_one` wherever it imports `old_one`. */
static void replace(void *old_one, void *new_one)
{
    BYTE *base = (BYTE *)GetModuleHandleA(NULL);
    IMAGE_NT_HEADERS *head = (IMAGE_NT_HEADERS *)(base + ((IMAGE_DOS_HEADER *)base)->e_lfanew);
    DWORD at = head->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT].VirtualAddress;
    for (IMAGE_IMPORT_DESCRIPTOR *from = (void *)(base + at); from->Name; from++)
        for (void **slot = (void **)(base + from->FirstThunk); *slot; slot++)
            if (*slot == old_one) {
                DWORD before;
                VirtualProtect(slot, sizeof *slot, PAGE_READWRITE, &before);
                *slot = new_one;
                VirtualProtect(slot, sizeof *slot, before, &before);
            }
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, LPVOID reserved)
{
    HMODULE winsock = GetModuleHandleA("ws2_32.dll");
    (void)self, (void)reserved;
    if (reason == DLL_PROCESS_ATTACH && winsock) {
        replace(GetProcAddress(winsock, "setsockopt"), set);
        replace(GetProcAddress(winsock, "getsockopt"), get);
    }
    return TRUE;
}
