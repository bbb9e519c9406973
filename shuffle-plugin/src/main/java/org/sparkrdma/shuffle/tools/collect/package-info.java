// SPDX-License-Identifier: Apache-2.0
/** The archive of {@code doctor --collect}, without addresses. One thread. */
package org.sparkrdma.shuffle.tools.collect;
