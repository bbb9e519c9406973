// SPDX-License-Identifier: Apache-2.0
/**
 * Rows of {@code fault-table.json} that unit tests measure: {@link org.sparkrdma.faults.FaultRows}.
 */
package org.sparkrdma.faults;
