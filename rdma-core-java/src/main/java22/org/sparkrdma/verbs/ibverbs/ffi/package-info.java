/**
 * The functions and structs of libibverbs, librdmacm and libc that the ibverbs engine uses, and
 * nothing of the engine itself. Public for the engine's package only.
 *
 * <p>Entry classes are {@link org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary} and {@link
 * org.sparkrdma.verbs.ibverbs.ffi.CmLibrary}; offsets stand in {@link
 * org.sparkrdma.verbs.ibverbs.ffi.Layouts} alone. Pointers are plain {@code long}s. Everything here
 * is stateless and safe for any thread.
 */
package org.sparkrdma.verbs.ibverbs.ffi;
