// SPDX-License-Identifier: Apache-2.0
/**
 * The programs of a Spark cluster over two guest kernels: each kernel runs {@link
 * org.sparkrdma.guest.cluster.ClusterNode}, node 1 with the driver. It requests faults of wires and
 * kernels from the host ({@link org.sparkrdma.guest.cluster.HostControl}) and writes a {@link
 * org.sparkrdma.guest.cluster.StepResult} for each step.
 */
package org.sparkrdma.guest.cluster;
