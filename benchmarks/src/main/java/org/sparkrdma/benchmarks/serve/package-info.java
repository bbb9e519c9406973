// SPDX-License-Identifier: Apache-2.0
/**
 * Cost of the two ways of serving: registering and deregistering a window of a file, and copying
 * the same bytes. Entry: {@link org.sparkrdma.benchmarks.serve.ServeCommand}. One thread.
 */
package org.sparkrdma.benchmarks.serve;
