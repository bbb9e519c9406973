// SPDX-License-Identifier: Apache-2.0
/**
 * Records of acquired resources, to find leaks in tests; elsewhere it does nothing. Entry class is
 * {@link org.sparkrdma.leak.LeakRecord}. No threads of its own.
 */
package org.sparkrdma.leak;
