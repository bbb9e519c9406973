// SPDX-License-Identifier: Apache-2.0
/**
 * The peer of rdma-core's programs, on the ibverbs engine.
 *
 * <p>Entry: {@link org.sparkrdma.guest.interop.RpingServer}, a program on the packaged plug-in,
 * started by the test beside this package. Uses only its main thread.
 */
package org.sparkrdma.guest.interop;
