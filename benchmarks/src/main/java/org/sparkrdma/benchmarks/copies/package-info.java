// SPDX-License-Identifier: Apache-2.0
/**
 * CPU time of copies out of files: by positioned reads, as the loopback engine makes them, and out
 * of mappings. Entry: {@link org.sparkrdma.benchmarks.copies.CopiesCommand}. One thread.
 */
package org.sparkrdma.benchmarks.copies;
