// SPDX-License-Identifier: Apache-2.0
/**
 * Ownership of state by threads ({@link org.sparkrdma.shuffle.thread.Owner}) and the wait for the
 * end of a thread ({@link org.sparkrdma.shuffle.thread.ThreadEnd}). No threads of its own.
 */
package org.sparkrdma.shuffle.thread;
