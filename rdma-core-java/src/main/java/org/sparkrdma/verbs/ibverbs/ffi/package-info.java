// SPDX-License-Identifier: Apache-2.0
/**
 * The functions and structs of libibverbs, librdmacm and libc that the ibverbs engine uses, and
 * nothing of the engine itself. Public for the engine's package only.
 *
 * <p>Entry classes are {@link org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary} and {@link
 * org.sparkrdma.verbs.ibverbs.ffi.CmLibrary}; offsets are in {@link
 * org.sparkrdma.verbs.ibverbs.ffi.Layouts} alone. All of them call C through {@link
 * org.sparkrdma.verbs.ibverbs.ffi.SetUpCalls} and {@link org.sparkrdma.verbs.ibverbs.ffi.Native};
 * {@link org.sparkrdma.verbs.ibverbs.ffi.JffiLibrary} must be checked first. Pointers are plain
 * {@code long}s. {@link org.sparkrdma.verbs.ibverbs.ffi.NativeArena} and {@link
 * org.sparkrdma.verbs.ibverbs.ffi.AddressRange} own memory and name its owner in their Javadoc.
 * Everything else is stateless and safe for any thread.
 */
package org.sparkrdma.verbs.ibverbs.ffi;
