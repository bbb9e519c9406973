// SPDX-License-Identifier: Apache-2.0
/**
 * Start and stop of RDMA in one executor.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.runtime.RdmaRuntime}, which owns everything that an
 * executor must close; {@code RuntimeStatus} is its state. {@code RdmaStart} chooses and opens
 * engine, device and transport; {@code OpenRdma} closes them.
 */
package org.sparkrdma.shuffle.runtime;
