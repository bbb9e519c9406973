#!/usr/bin/perl
# Gives the wires' ends more room: widen.pl BYTES WORD
#
# A kernel reads a wire from a packet socket, and what arrives while that is full is lost. By default
# it takes fewer than 32 packets of 4 KiB, where the answer to one RDMA READ may be hundreds at once; and
# it hands the kernel back what that has sent itself. Takes the sockets of the processes that have the
# word on their command line (pidfd_getfd(2)), enlarges their receive buffers, beyond
# net.core.rmem_max where it may, and has them ignore what goes out (packet(7)).
#
# SPDX-License-Identifier: Apache-2.0
use strict;
use warnings;

# The same on all architectures.
use constant { PIDFD_OPEN => 434, PIDFD_GETFD => 438 };
use constant { SOL_SOCKET => 1, SO_RCVBUF => 8, SO_RCVBUFFORCE => 33 };
use constant { SOL_PACKET => 263, PACKET_IGNORE_OUTGOING => 23 };
use constant { AF_PACKET => 17, ETH_P_ALL => 3 };

my ($bytes, $word) = @ARGV;
my $widened = 0;
for my $pid (grep { $_ != $$ } map { m{([0-9]+)$} } glob '/proc/[0-9]*') {
    next unless index(command_line($pid), $word) >= 0;
    my $process = syscall(PIDFD_OPEN, $pid + 0, 0);
    next if $process < 0;
    for my $link (glob "/proc/$pid/fd/*") {
        next unless (readlink($link) // '') =~ /^socket:/;
        my $fd = syscall(PIDFD_GETFD, $process, ($link =~ /([0-9]+)$/)[0] + 0, 0);
        next if $fd < 0;
        open(my $socket, '+<&=', $fd) or next;
        $widened++ if reads_a_wire($socket) && widen($socket);
    }
}
exit($widened > 0 ? 0 : 1);

sub command_line {
    my ($pid) = @_;
    open(my $file, '<', "/proc/$pid/cmdline") or return '';
    local $/;
    return <$file> // '';
}

# Not the one that it sends by, which is for IP alone and never read.
sub reads_a_wire {
    my ($socket) = @_;
    my ($family, $protocol) = unpack('S n', getsockname($socket) // '');
    return ($family // 0) == AF_PACKET && ($protocol // 0) == ETH_P_ALL;
}

sub widen {
    my ($socket) = @_;
    setsockopt($socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, pack('i', 1));
    return setsockopt($socket, SOL_SOCKET, SO_RCVBUFFORCE, pack('i', $bytes))
        || setsockopt($socket, SOL_SOCKET, SO_RCVBUF, pack('i', $bytes));
}
