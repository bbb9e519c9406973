// SPDX-License-Identifier: Apache-2.0
/**
 * Counters of loss and congestion: those of a port in {@code /sys}, and pause frames of its network
 * interface from {@code ethtool}. Entry class {@link
 * org.sparkrdma.shuffle.tools.counters.PortCounters}. No threads of its own.
 */
package org.sparkrdma.shuffle.tools.counters;
