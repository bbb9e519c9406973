// SPDX-License-Identifier: Apache-2.0
/**
 * The doctor inside an application: {@link org.sparkrdma.shuffle.executorchecks.ExecutorDoctor}
 * runs the checks in each executor, in a thread of its own, and {@link
 * org.sparkrdma.shuffle.executorchecks.FindingsLog} logs their findings at the driver. {@code
 * ExecutorSide} starts the first, {@code DriverSide} the second.
 */
package org.sparkrdma.shuffle.executorchecks;
