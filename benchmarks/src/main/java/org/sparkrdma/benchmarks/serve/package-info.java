// SPDX-License-Identifier: Apache-2.0
/**
 * What the two ways of serving cost: registering a window of a file and giving it back, against
 * copying the same bytes. Entry: {@link org.sparkrdma.benchmarks.serve.ServeCommand}. One thread.
 */
package org.sparkrdma.benchmarks.serve;
