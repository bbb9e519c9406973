// SPDX-License-Identifier: Apache-2.0
/**
 * {@code ./bench latency}: the time of one request while there is no other, against Spark's own
 * transfer service.
 */
package org.sparkrdma.benchmarks.latency;
