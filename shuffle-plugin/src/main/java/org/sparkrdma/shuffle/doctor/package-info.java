// SPDX-License-Identifier: Apache-2.0
/**
 * The doctor inside an application: {@link org.sparkrdma.shuffle.doctor.ExecutorDoctor} runs the
 * checks in each executor, in a thread of its own, and {@link
 * org.sparkrdma.shuffle.doctor.FindingsLog} logs their findings at the driver. Only the shuffle
 * manager starts them.
 */
package org.sparkrdma.shuffle.doctor;
