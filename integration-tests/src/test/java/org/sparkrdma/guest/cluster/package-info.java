// SPDX-License-Identifier: Apache-2.0
/**
 * A Spark cluster over two guest kernels, seen from inside: {@link
 * org.sparkrdma.guest.cluster.ClusterNode} is what each kernel runs, node 1 with the driver. It
 * asks the host for what happens to wires and kernels ({@link
 * org.sparkrdma.guest.cluster.HostControl}) and leaves a {@link
 * org.sparkrdma.guest.cluster.StepResult} for each step.
 */
package org.sparkrdma.guest.cluster;
