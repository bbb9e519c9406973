// SPDX-License-Identifier: Apache-2.0
/**
 * Shared code of the engines for RDMA devices: posted work and its flushing, completion queues that
 * a device fills, connections of the kernel's RDMA connection manager (rdma_cm(7)), and the table
 * of drivers that deviate from their specification.
 *
 * <p>Entry class {@link org.sparkrdma.verbs.engine.device.DeviceQueuePair}. Only the engines
 * ibverbs and disni use this package.
 */
package org.sparkrdma.verbs.engine.device;
