// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.List;

/** All cases, in the order of time. */
record TransferReport(List<TransferCase> cases) {}
