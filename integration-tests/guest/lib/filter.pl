#!/usr/bin/perl
# Carries the frames of filtered wires, and loses the messages that it is ordered to lose:
#
#   filter.pl ORDERS LOG PORT PORT [PORT PORT]...    two ports are the ends of one wire
#
# An order is a line in the pipe ORDERS: a message and how many of it to lose from now on. Each order and
# each lost frame is a line in LOG. Messages: those of RoCE's connection manager (IBTA, chapter 12), by the
# attribute of a management datagram, and those that begin an iWARP connection (RFC 5044), by their key.
#
# SPDX-License-Identifier: Apache-2.0
use strict;
use warnings;
use Fcntl;
use IO::Handle;

# The same on all architectures.
use constant { AF_PACKET => 17, SOCK_RAW => 3, ETH_P_ALL => 3 };
use constant { SOL_SOCKET => 1, SO_RCVBUF => 8, SO_RCVBUFFORCE => 33 };
use constant { SOL_PACKET => 263, PACKET_IGNORE_OUTGOING => 23 };
use constant { SIOCGIFINDEX => 0x8933, FRAME_BYTES => 65536, BUFFER_BYTES => 32 << 20 };
use constant { IPV4 => 0x0800, IPV6 => 0x86dd, TCP => 6, UDP => 17, ROCE_PORT => 4791 };
use constant { MANAGEMENT_PAIR => 1, CONNECTION_CLASS => 7 };

my %attributes = (
    0x10 => 'REQ', 0x11 => 'MRA', 0x12 => 'REJ', 0x13 => 'REP', 0x14 => 'RTU', 0x15 => 'DREQ', 0x16 => 'DREP',
);
my %keys = ('MPA ID Req Frame' => 'MPA-REQUEST', 'MPA ID Rep Frame' => 'MPA-REPLY');

my ($orders_path, $log_path, @ports) = @ARGV;
sysopen(my $orders, $orders_path, O_RDWR | O_NONBLOCK) or die "cannot open $orders_path: $!\n";
open(my $log, '>>', $log_path) or die "cannot write $log_path: $!\n";
$log->autoflush(1);

my @sockets = map { open_port($_) } @ports;
my %to_lose;
print $log "ready\n";
while (1) {
    my $wanted = '';
    vec($wanted, fileno($_), 1) = 1 for $orders, @sockets;
    next if select($wanted, undef, undef, undef) < 0;
    take_orders() if vec($wanted, fileno($orders), 1);
    for my $i (0 .. $#sockets) {
        next unless vec($wanted, fileno($sockets[$i]), 1);
        defined(recv($sockets[$i], my $frame, FRAME_BYTES, 0)) or next;
        # The other end of the wire. What cannot be sent is lost, as on a direct wire.
        send($sockets[$i ^ 1], $frame, 0) unless is_lost($frame, $ports[$i]);
    }
}

sub open_port {
    my ($name) = @_;
    my $protocol = unpack('S', pack('n', ETH_P_ALL));
    socket(my $socket, AF_PACKET, SOCK_RAW, $protocol) or die "cannot open a packet socket: $!\n";
    my $request = pack('a16 i x20', $name, 0);
    ioctl($socket, SIOCGIFINDEX, $request) or die "no device $name: $!\n";
    my $index = unpack('x16 i', $request);
    setsockopt($socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, pack('i', 1));
    setsockopt($socket, SOL_SOCKET, SO_RCVBUFFORCE, pack('i', BUFFER_BYTES))
        || setsockopt($socket, SOL_SOCKET, SO_RCVBUF, pack('i', BUFFER_BYTES));
    bind($socket, pack('S n i S C C a8', AF_PACKET, ETH_P_ALL, $index, 0, 0, 0, '')) or die "cannot bind to $name: $!\n";
    return $socket;
}

sub take_orders {
    sysread($orders, my $lines, 4096) or return;
    for my $line (split /\n/, $lines) {
        my ($message, $count) = split ' ', $line;
        $to_lose{$message} = $count;
        print $log "order $message $count\n";
    }
}

sub is_lost {
    my ($frame, $port) = @_;
    return 0 unless %to_lose;
    my $message = message($frame);
    return 0 unless $message && $to_lose{$message};
    delete $to_lose{$message} if --$to_lose{$message} == 0;
    printf $log "lost %s at %s, %d bytes\n", $message, $port, length($frame);
    return 1;
}

# The name of the message in a frame; empty for any other.
sub message {
    my ($frame) = @_;
    my $type = unpack('x12 n', $frame);
    my ($protocol, $payload);
    if ($type == IPV4) {
        my $first = unpack('x14 C', $frame);
        ($protocol, $payload) = (unpack('x23 C', $frame), 14 + 4 * ($first & 15));
    } elsif ($type == IPV6) {
        ($protocol, $payload) = (unpack('x20 C', $frame), 14 + 40);
    } else {
        return '';
    }
    return $protocol == UDP ? roce(substr($frame, $payload))
        : $protocol == TCP ? iwarp(substr($frame, $payload))
        :                    '';
}

# UDP 8 bytes, base transport header 12, datagram header 8, then the management datagram.
sub roce {
    my ($udp) = @_;
    return '' if length($udp) < 52 || unpack('x2 n', $udp) != ROCE_PORT;
    my ($pair, $class, $attribute) = unpack('x12 N x13 C x14 n', $udp);
    return '' if ($pair & 0xffffff) != MANAGEMENT_PAIR || $class != CONNECTION_CLASS;
    return $attributes{$attribute} // '';
}

sub iwarp {
    my ($tcp) = @_;
    return '' if length($tcp) < 20;
    my $header = 4 * (unpack('x12 C', $tcp) >> 4);
    return length($tcp) < $header + 16 ? '' : $keys{substr($tcp, $header, 16)} // '';
}
