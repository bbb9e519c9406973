// SPDX-License-Identifier: Apache-2.0
/** Thread ownership: {@link org.sparkrdma.shuffle.thread.Owner}. No threads of its own. */
package org.sparkrdma.shuffle.thread;
