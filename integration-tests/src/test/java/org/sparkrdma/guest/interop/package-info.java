// SPDX-License-Identifier: Apache-2.0
/**
 * The other end of programs that are not ours, through our engine and its listener.
 *
 * <p>Entry: {@link org.sparkrdma.guest.interop.RpingServer}, a program on the packaged plug-in,
 * started by the test beside this package. All on its main thread.
 */
package org.sparkrdma.guest.interop;
