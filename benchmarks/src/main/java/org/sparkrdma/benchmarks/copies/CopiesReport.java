// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import java.util.List;

/**
 * All cases, in the order of time.
 *
 * @param fileSystem type of the file system that has the files
 */
record CopiesReport(String fileSystem, List<CopyCase> cases) {}
