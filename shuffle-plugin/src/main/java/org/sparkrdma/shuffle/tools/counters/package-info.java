// SPDX-License-Identifier: Apache-2.0
/**
 * Counters of loss and congestion: those of a port in {@code /sys}, and pause frames of its network
 * interface from {@code ethtool}; and the files of a port that other commands read too ({@link
 * org.sparkrdma.shuffle.tools.counters.PortFiles}). Entry class {@link
 * org.sparkrdma.shuffle.tools.counters.PortCounters}. No threads of its own.
 */
package org.sparkrdma.shuffle.tools.counters;
