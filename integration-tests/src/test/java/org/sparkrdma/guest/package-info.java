// SPDX-License-Identifier: Apache-2.0
/**
 * Tests on user-mode Linux kernels with soft RDMA devices, run by the tool in {@code
 * integration-tests/guest}.
 *
 * <p>Entry: {@link org.sparkrdma.guest.Guest}, which describes a run. The build starts these tests
 * with {@code -Pguest} only. One run at a time, because the machine has few cores; a test may watch
 * its run from one more thread.
 */
package org.sparkrdma.guest;
