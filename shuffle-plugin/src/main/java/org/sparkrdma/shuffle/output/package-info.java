// SPDX-License-Identifier: Apache-2.0
/**
 * What Spark has written: where the blocks of a map output lie, and what their bytes sum up to.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.output.MapOutputs}. Knows nothing of RDMA.
 */
package org.sparkrdma.shuffle.output;
