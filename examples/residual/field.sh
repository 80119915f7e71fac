#!/bin/bash
# field.sh SED DIR - what people do with sed: one-liners as they are in manuals, answers and scripts, on the texts of a
# source tree. None of it is meant as a test.
set -eu
sed=$1
cd "$2"
export LC_ALL=C.UTF-8
text="NEWS README THANKS"

exec >/dev/null
for file in $text; do
	$sed -n '$=' $file				# wc -l
	$sed 10q $file					# head
	$sed -e :a -e '$q;N;11,$D;ba' $file		# tail
	$sed '$!N;$!D' $file				# the last two lines
	$sed -n '$p' $file
	$sed -n '8,12p' $file
	$sed -n '3,${p;n;n;n;n;n;n;}' $file		# every seventh line from the third
	$sed G $file					# double space
	$sed 'n;d' $file				# and back
	$sed '=' $file | $sed 'N;s/\n/\t/'		# number the lines
	$sed '1!G;h;$!d' $file				# tac
	$sed '/\n/!G;s/\(.\)\(.*\n\)/&\2\1/;//D;s/.//' $file	# rev
	$sed '/^$/d' $file
	$sed '/./,/^$/!d' $file				# cat -s
	$sed '/./,$!d' $file				# no blank lines at the top
	$sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' $file	# nor at the end
	$sed 's/^[ \t]*//;s/[ \t]*$//' $file
	$sed 's/\x1b\[[0-9;]*m//g;s/\r$//' $file	# no colours, no carriage returns
	$sed -e :a -e 's/^.\{1,78\}$/ &/;ta' $file	# align right
	$sed '$!N;/^\(.*\)\n\1$/!P;D' $file		# uniq
	$sed '$!N;s/^\(.*\)\n\1$/\1/;t;D' $file		# uniq -d
	$sed -e :a -e '/\\$/N;s/\\\n//;ta' $file	# join continued lines
	$sed -E ':a;s/\B[0-9]{3}\>/,&/;ta' $file	# 1,234,567
	$sed 's/\<./\u&/g' $file			# Capital Letters
	$sed 's/.*/\L\u&/' $file
	$sed -E 's/([a-z]+)@([a-z.]+)/\2 at \1/g' $file
	$sed 's/e/E/3' $file				# the third of a line
	$sed 's/the/THE/2g' $file
	$sed -n '/sed/{=;p;}' $file
	$sed -n '/Bug fixes/,+3p' $file			# grep -A 3
	$sed '/^\*\*/,+1d' $file
	$sed -n '/release 4/,/^\*/p' $file
	$sed '/^\*/,10s/^/> /' $file
	$sed -n '0,/sed/p' $file			# up to the first
	$sed '0,/sed/s//SED/' $file			# replace the first only
	$sed -n '0~5p' $file
	$sed '2,4!d' $file
	$sed '5,2d' $file
	$sed '/bug/I s/^/! /' $file
	$sed -n '/--/s/.*\(--[a-z-]*\).*/\1/p' $file
	$sed 'y/abcdefghijklmnopqrstuvwxyz/nopqrstuvwxyzabcdefghijklm/' $file	# rot13
	$sed '/^$/N;/\n$/D' $file
	$sed '1i\
title' $file
	$sed '$a\
the end' $file
	$sed '/^Copyright/c\
(C)' $file
	$sed 's|/usr/bin|/bin|g;s#http:#https:#' $file
	$sed -s -n '1p;$p' $text
	$sed -z 's/\n\n*/\n/g' $file
	$sed -n l $file
	$sed -E 's/(^|[^a-z])sed([^a-z]|$)/\1[sed]\2/g;s/x*/-/g' $file
done
