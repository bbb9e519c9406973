// SPDX-License-Identifier: Apache-2.0
/**
 * The checks of the command {@code doctor}, one class each: {@link
 * org.sparkrdma.shuffle.tools.doctor.Doctor} runs them in order. A check reads {@link
 * org.sparkrdma.shuffle.tools.doctor.Facts} only, so that tests run on directories that look like
 * the files of other machines. One thread.
 */
package org.sparkrdma.shuffle.tools.doctor;
