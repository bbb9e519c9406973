// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.List;
import org.sparkrdma.benchmarks.jobs.Environment;

/** All cases, in the order of time, and what they were measured on. */
record TransferReport(Environment environment, List<TransferCase> cases) {}
